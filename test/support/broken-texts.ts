/** Answer texts in which a resumed stream has difficulty finding its position. */
export const BROKEN_TEXTS = [
  'The quick brown fox jumps over the lazy dog. Then it sleeps, and then it jumps again, as foxes do; very, very, very often. '.repeat(
    2,
  ),
  'Der Fuchs läuft über die Straße, weil er größer als der Hund ist – und wieder zurück, „ganz ohne Mühe“, sagt man.',
  'Лиса прыгает через ленивую собаку, а потом засыпает под деревом; утром она просыпается и снова прыгает через неё.',
  '敏捷的棕色狐狸跳过了懒狗。然后它在树下睡着了,第二天早上醒来,又一次跳过了那只懒狗。世界就是这样运转的。',
  'الثعلب البني السريع يقفز فوق الكلب الكسول، ثم ينام تحت الشجرة، وفي الصباح يستيقظ ويقفز مرة أخرى فوق الكلب.',
  'तेज़ भूरी लोमड़ी आलसी कुत्ते के ऊपर से कूदती है, फिर पेड़ के नीचे सो जाती है; सुबह वह उठकर फिर कूदती है।',
  'function add(a, b) {\n        return a + b;\n}\n\nfunction sub(a, b) {\n        return a - b;\n}\n\nadd(1, 1);\nadd(1, 1);\nadd(1, 1);\n',
  '| a | b |\n| --- | --- |\n| 0 | 0 |\n| 0 | 0 |\n| 0 | 0 |\n\n----------------------------------------------------------------\nend\n',
  'Hi 👋🏽! Family: 👨‍👩‍👧‍👦, flags: 🇩🇪🇫🇷🇯🇵🇧🇷, e\u0301 and ñ, hearts: ❤️❤️❤️❤️❤️❤️❤️❤️❤️❤️❤️❤️❤️❤️ and more 🎉🎉🎉🎉🎉🎉🎉🎉🎉🎉 done.',
  'ha'.repeat(60),
];

/** The texts in which every cut position is unambiguous. */
export const DISTINCT_TEXTS = BROKEN_TEXTS.filter((text) => !/(.{16,})\1|(..)\2{9}/su.test(text));

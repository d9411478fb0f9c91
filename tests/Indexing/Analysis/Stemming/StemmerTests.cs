using System.Text;
using Treepie.Indexing.Analysis.Stemming;
using Treepie.Tests.Support;

namespace Treepie.Indexing.Tests.Analysis.Stemming;

/// <summary>
/// Stems of words of every language, as the reference implementation of the Snowball project (2.2) gives them. The lists beside
/// this file are samples; <c>TREEPIE_STEMS</c> may name a folder with whole dictionaries in the same form (<c>English.txt</c>:
/// word, tab, stem).
/// </summary>
public sealed class StemmerTests
{
    public static TheoryData<string> Languages => [.. Stemmer.All().Select(stemmer => stemmer.Language)];

    [Theory]
    [MemberData(nameof(Languages))]
    public void Stems_are_those_of_the_published_algorithm(string language)
    {
        string folder = Environment.GetEnvironmentVariable("TREEPIE_STEMS")
            ?? Path.Combine(DataSets.RepositoryRoot, "tests", "Indexing", "Analysis", "Stemming", "Words");
        Stemmer stemmer = Stemmer.All().Single(known => known.Language == language).Stemmer;
        var word = new StemWord();
        var wrong = new List<string>();
        int count = 0;
        foreach (string line in File.ReadLines(Path.Combine(folder, language + ".txt")))
        {
            string[] parts = line.Split('\t');
            Assert.True(word.TryLoad(Encoding.UTF8.GetBytes(parts[0])), line);
            stemmer.Stem(word);
            string stem = Encoding.UTF8.GetString(word.ToUtf8());
            count++;
            if (stem != parts[1])
                wrong.Add($"{parts[0]}: {stem}, expected {parts[1]}");
        }

        Assert.True(wrong.Count == 0, $"{wrong.Count} of {count} words of {language}:\n{string.Join('\n', wrong.Take(40))}");
        Assert.True(count >= 100);
    }

    [Fact]
    public void Any_word_has_a_stem_that_is_not_much_longer()
    {
        var random = new Random(Seed.Next());
        const string Letters = "aeiouyäöåøæéèàêîûçñãõßbcdfghjklmnpqrstvwxzаеиоуыэюявнтсйшщь'~HIUY";
        string[] endings =
        [
            "ement", "ation", "ities", "ando", "iendo", "heden", "issement", "ившись", "lich", "keit", "nsa", "tten", "ss", "'s'",
            "qu"
        ];
        var word = new StemWord();
        for (int round = 0; round < 20_000; round++)
        {
            string text = string.Concat(Enumerable.Range(0, random.Next(0, 9)).Select(_ =>
                random.Next(5) == 0 ? endings[random.Next(endings.Length)] : Letters[random.Next(Letters.Length)].ToString()));
            foreach ((string _, Stemmer stemmer) in Stemmer.All())
            {
                if (!word.TryLoad(Encoding.UTF8.GetBytes(text)))
                    continue;
                stemmer.Stem(word);
                Assert.InRange(word.Length, 0, text.Length + 2);
            }
        }
    }

    [Fact]
    public void Words_that_are_too_long_or_broken_are_left_alone()
    {
        var word = new StemWord();
        Assert.False(word.TryLoad(new byte[StemWord.MaxLength + 1]));
        Assert.False(word.TryLoad([(byte)'a', 0xFF]));
        foreach ((string _, Stemmer stemmer) in Stemmer.All())
        {
            foreach (char letter in "aeyuãõïëч")
            {
                Assert.True(word.TryLoad(Encoding.UTF8.GetBytes(new string(letter, StemWord.MaxLength))));
                stemmer.Stem(word);
            }
        }
    }
}

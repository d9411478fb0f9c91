using System.Globalization;
using System.Text;
using System.Text.Json;
using Treepie.Bench.Measuring;

namespace Treepie.Bench.Suites.Search;

/// <summary>The texts of one run, with how many have each word.</summary>
internal sealed class SearchCorpus
{
    private const int Seed = 20261121;

    private SearchCorpus(string name, SearchDocument[] documents)
    {
        Name = name;
        Documents = documents;
        var seen = new HashSet<string>(StringComparer.Ordinal);
        foreach (SearchDocument document in documents)
        {
            seen.Clear();
            foreach (string word in document.Text.Split(' ', StringSplitOptions.RemoveEmptyEntries))
            {
                TotalWords++;
                if (seen.Add(word))
                    Frequencies[word] = Frequencies.GetValueOrDefault(word) + 1;
            }
        }
    }

    /// <summary>What it is called in the report.</summary>
    public string Name { get; }

    /// <summary>The texts.</summary>
    public SearchDocument[] Documents { get; }

    /// <summary>Texts that have a word, by word.</summary>
    public Dictionary<string, int> Frequencies { get; } = new(StringComparer.Ordinal);

    /// <summary>Words of all texts, repetitions counted.</summary>
    public long TotalWords { get; }

    /// <summary>Verses of 25 English translations.</summary>
    public static SearchCorpus Verses(int most) =>
        new("verses", [.. Corpus.Load(DataSet.Verses, most).Select(line => Parse(line, "text", "num", "day", "tr"))]);

    /// <summary>Made texts: 8 to 40 words of 200,000, the n-th as often as 1/n says.</summary>
    public static SearchCorpus Zipf(int count)
    {
        const int Words = 200_000;
        var random = new Random(Seed);
        double all = Math.Log(Words + 1);
        var text = new StringBuilder();
        var documents = new SearchDocument[count];
        for (int i = 0; i < count; i++)
        {
            text.Clear();
            for (int left = random.Next(8, 41); left > 0; left--)
                // ranks whose logarithm is even
                text.Append('w').Append((int)Math.Exp(random.NextDouble() * all)).Append(left == 1 ? "" : " ");
            long day = 7_370 - (long)Math.Min(7_000, Math.Pow(1 - random.NextDouble(), -1.2));
            documents[i] = new SearchDocument("g" + (char)('a' + random.Next(25)), random.Next(1_000_000), day, text.ToString());
        }

        return new SearchCorpus("Zipf", documents);
    }

    /// <summary>The first texts alone.</summary>
    public SearchCorpus First(int count) => new(Name, Documents[..Math.Min(count, Documents.Length)]);

    /// <summary>Writes the file that all engines index from.</summary>
    public void Write(string path) => File.WriteAllLines(path, Documents.Select(document => document.Line));

    private static SearchDocument Parse(byte[] line, string text, string number, string day, string group)
    {
        using JsonDocument json = JsonDocument.Parse(line);
        JsonElement root = json.RootElement;
        long Long(string name) =>
            root.TryGetProperty(name, out JsonElement found) && found.ValueKind == JsonValueKind.Number ? found.GetInt64() : 0;
        string groupText = !root.TryGetProperty(group, out JsonElement named) ? "none"
            : named.ValueKind == JsonValueKind.Array ? (named.GetArrayLength() > 0 ? named[0].GetString() ?? "none" : "none")
            : named.GetString() ?? "none";
        return new SearchDocument(
            groupText, Long(number), Long(day),
            WordsOf(root.TryGetProperty(text, out JsonElement value) ? value.GetString() ?? "" : ""));
    }

    /// <summary>The words alone, in lower case.</summary>
    private static string WordsOf(string text)
    {
        var words = new StringBuilder(text.Length);
        foreach (char character in text.Normalize().ToLower(CultureInfo.InvariantCulture))
        {
            if (char.IsAsciiLetterOrDigit(character) || (character > 127 && char.IsLetter(character)))
                words.Append(character);
            else if (words.Length > 0 && words[^1] != ' ')
                words.Append(' ');
        }

        return words.ToString().TrimEnd();
    }
}

using System.Text;

namespace Treepie.Indexing.Analysis;

/// <summary>
/// Every fragment of so many to so many characters of every word, so that a part of a word finds it: <c>NGramAnalyzer</c> (2 to 6)
/// or <c>NGramAnalyzer(3,4)</c>. Fragments of a word all stand at its position, so phrases of whole words still hold. Queries are cut into whole words.
/// </summary>
internal sealed class NGramAnalyzer : Analyzer
{
    /// <summary>Longest fragment; longer ones find nothing that words do not.</summary>
    public const int MaxSize = 32;

    /// <summary>Most characters of a word that are cut into fragments: words are shorter, and what is not a word would fill the index.</summary>
    public const int MaxWordCharacters = 1_024;

    private readonly int min;
    private readonly int max;
    private readonly Analyzer words;

    /// <exception cref="ArgumentException">The sizes are not 1 ≤ least ≤ most ≤ 32.</exception>
    public NGramAnalyzer(int min, int max, Analyzer words)
    {
        if (min < 1 || max < min || max > MaxSize)
        {
            throw new ArgumentException(
                $"NGramAnalyzer({min},{max}) is not possible: the sizes are characters, the least from 1 on, the most not below it and up to {MaxSize}.");
        }

        this.min = min;
        this.max = max;
        this.words = words;
    }

    public override Analyzer ForQueries => words;

    public override void Analyze(ReadOnlySpan<byte> text, TokenSink sink)
    {
        var tokens = new StandardTokens(text, sink.Scratch);
        Span<int> starts = stackalloc int[MaxWordCharacters + 1];
        while (tokens.MoveNext())
        {
            int count = Characters(tokens.Current, starts);
            int step = 1;
            for (int i = 0; i < count; i++)
            {
                for (int size = min; size <= max && i + size <= count; size++)
                {
                    sink.Add(tokens.Current[starts[i]..starts[i + size]], tokens.Start, tokens.End, step);
                    step = 0;
                }
            }

            // A word below the least size is kept whole: it would be lost otherwise.
            if (count < min)
                sink.Add(tokens.Current, tokens.Start, tokens.End);
        }
    }

    /// <summary>Where the characters of a word begin, and where the last one ends.</summary>
    private static int Characters(ReadOnlySpan<byte> word, Span<int> starts)
    {
        int count = 0;
        int place = 0;
        while (place < word.Length && count < MaxWordCharacters)
        {
            starts[count++] = place;
            Rune.DecodeFromUtf8(word[place..], out _, out int length);
            place += length;
        }

        starts[count] = place;
        return count;
    }
}

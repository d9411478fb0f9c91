using System.Text;

namespace Treepie.Indexing.Analysis;

/// <summary>
/// Passes on every fragment of every word with a least to a greatest number of characters, so that a part of a word finds
/// it: <c>NGramAnalyzer</c> (2 to 6) or <c>NGramAnalyzer(3,4)</c>. All fragments of a word are at its position, so phrases
/// still work. A query searches for a word as it is unless it is longer than the longest fragment; for a longer word it
/// searches for all fragments of the greatest length, which must be at one position, so that a word finds itself however
/// long it is.
/// </summary>
internal sealed class NGramAnalyzer : Analyzer
{
    /// <summary>Length of the longest fragment in characters; longer ones would find nothing that words do not.</summary>
    public const int MaxSize = 32;

    /// <summary>
    /// Only this many characters of a word are cut into fragments: words are shorter, and anything else would fill the
    /// index.
    /// </summary>
    public const int MaxWordCharacters = 1_024;

    private readonly int _min;
    private readonly int _max;

    /// <exception cref="ArgumentException">The sizes are not 1 ≤ min ≤ max ≤ 32.</exception>
    public NGramAnalyzer(int min, int max)
    {
        if (min < 1 || max < min || max > MaxSize)
        {
            throw new ArgumentException(
                $"NGramAnalyzer({min},{max}) is not possible: the sizes are characters, the least from 1 on, the most not below "
                    + $"it and up to {MaxSize}.");
        }

        _min = min;
        _max = max;
        ForQueries = new QueryAnalyzer(max);
    }

    public override Analyzer ForQueries { get; }

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
                for (int size = _min; size <= _max && i + size <= count; size++)
                {
                    sink.Add(tokens.Current[starts[i]..starts[i + size]], tokens.Start, tokens.End, step);
                    step = 0;
                }
            }

            // A word below the least size is kept whole; otherwise it could not be found.
            if (count < _min)
                sink.Add(tokens.Current, tokens.Start, tokens.End);
        }
    }

    /// <summary>Writes where the characters of a word begin, and where the last one ends; returns their number.</summary>
    public static int Characters(ReadOnlySpan<byte> word, Span<int> starts)
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

    private sealed class QueryAnalyzer(int max) : Analyzer
    {
        public override void Analyze(ReadOnlySpan<byte> text, TokenSink sink)
        {
            var tokens = new StandardTokens(text, sink.Scratch);
            Span<int> starts = stackalloc int[MaxWordCharacters + 1];
            while (tokens.MoveNext())
            {
                ReadOnlySpan<byte> word = tokens.Current;
                int count = Characters(word, starts);
                sink.Add(count <= max ? word : word[..starts[max]], tokens.Start, tokens.End);
                for (int i = 1; i + max <= count; i++)
                {
                    if (!IsRepeated(word, starts, i))
                        sink.Add(word[starts[i]..starts[i + max]], tokens.Start, tokens.End, 0);
                }
            }
        }

        /// <summary>
        /// Whether an equal fragment of the word came before: a phrase requires as many occurrences as it names.
        /// </summary>
        private bool IsRepeated(ReadOnlySpan<byte> word, ReadOnlySpan<int> starts, int i)
        {
            ReadOnlySpan<byte> fragment = word[starts[i]..starts[i + max]];
            return word[..(starts[i + max] - 1)].IndexOf(fragment) >= 0;
        }
    }
}

using System.Text;

namespace Treepie.Indexing.Analysis;

/// <summary>Words to be removed, in folded form. Immutable.</summary>
internal sealed class StopWords
{
    /// <summary>Longest word in UTF-8.</summary>
    public const int MaxBytes = 32;

    private readonly HashSet<string> _words;

    private StopWords(IEnumerable<string> words) => _words = new HashSet<string>(words, StringComparer.Ordinal);

    /// <summary>The stop words of the analyzers named <c>StandardAnalyzer</c> and <c>StopAnalyzer</c>.</summary>
    public static StopWords English { get; } = new(
    [
        "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no", "not", "of", "on",
        "or",
        "such", "that", "the", "their", "then", "there", "these", "they", "this", "to", "was", "will", "with",
    ]);

    /// <summary>
    /// Creates a set of words in the form that they have after the preceding filters. Words of more than
    /// <see cref="MaxBytes"/> are never removed.
    /// </summary>
    public static StopWords Of(IEnumerable<string> words) => new(words);

    public bool Contains(ReadOnlySpan<byte> word)
    {
        if (word.Length > MaxBytes)
            return false;

        Span<char> text = stackalloc char[MaxBytes];
        text = text[..Encoding.UTF8.GetChars(word, text)];
        return _words.GetAlternateLookup<ReadOnlySpan<char>>().Contains(text);
    }
}

namespace Treepie.Indexing.Analysis;

/// <summary>
/// Passes on the whole text as one term, unchanged or with simple case folding: <c>KeywordAnalyzer</c>,
/// <c>LowerCaseKeywordAnalyzer</c>.
/// </summary>
internal sealed class KeywordAnalyzer(bool isFolded) : Analyzer
{
    public override void Analyze(ReadOnlySpan<byte> text, TokenSink sink) =>
        sink.Add(isFolded ? Fold(text, sink.Scratch) : text, 0, text.Length);

    /// <summary>Whole values are equal after simple folding: ß and ss stay different.</summary>
    public override byte[] Normalize(ReadOnlySpan<byte> fragment) =>
        isFolded ? Fold(fragment, new TokenBuffer()).ToArray() : fragment.ToArray();

    /// <summary>Returns the folded text; valid until the buffer is used again.</summary>
    public static ReadOnlySpan<byte> Fold(ReadOnlySpan<byte> text, TokenBuffer buffer)
    {
        buffer.Clear();
        buffer.Advance(CaseFolding.Fold(text, buffer.Room(CaseFolding.MaxBytes(text.Length))));
        return buffer.Written;
    }
}

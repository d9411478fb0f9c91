using Treepie.Indexing.Schema;

namespace Treepie.Indexing.Analysis;

/// <summary>
/// Turns text into the terms of a field. A struct on the stack over a buffer of the caller; a term lives until the next
/// one is asked for.
/// </summary>
internal ref struct FieldAnalyzer
{
    private readonly FieldAnalysis analysis;
    private readonly TokenBuffer buffer;
    private readonly Span<byte> cutScratch;
    private readonly ReadOnlySpan<byte> text;
    private StandardTokens words;
    private bool done;

    /// <summary>Begins with a text; <paramref name="cutScratch"/> holds <see cref="TermForm.CutBytes"/>.</summary>
    public FieldAnalyzer(FieldAnalysis analysis, ReadOnlySpan<byte> text, TokenBuffer buffer, Span<byte> cutScratch)
    {
        this.analysis = analysis;
        this.buffer = buffer;
        this.cutScratch = cutScratch;
        this.text = text;
        words = new StandardTokens(text, buffer);
    }

    /// <summary>Gives the next term in its stored form.</summary>
    public bool MoveNext(out ReadOnlySpan<byte> term)
    {
        term = default;
        if (analysis == FieldAnalysis.FullText)
        {
            if (!words.MoveNext())
                return false;

            term = TermForm.Of(words.Current, cutScratch);
            return true;
        }

        if (done)
            return false;

        done = true;
        term = TermForm.Of(Whole(), cutScratch);
        return true;
    }

    private readonly ReadOnlySpan<byte> Whole()
    {
        if (analysis == FieldAnalysis.Keyword)
            return text;

        buffer.Clear();
        buffer.Advance(CaseFolding.Fold(text, buffer.Room(CaseFolding.MaxBytes(text.Length))));
        return buffer.Written;
    }
}

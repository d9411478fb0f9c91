namespace Treepie.Indexing.Analysis;

/// <summary>
/// Receives the terms of a text, with their positions, from an <see cref="Analyzer"/>. Used by one thread during one call of
/// <see cref="Analyzer.Analyze"/>.
/// </summary>
public abstract class TokenSink
{
    /// <summary>
    /// Distance between the positions of two values of one field, so that no phrase extends from one value into the next.
    /// </summary>
    internal const int ValueGap = 100;

    private byte[]? _cutScratch;
    private Stemming.StemWord? _word;
    private int _position;

    private protected TokenSink()
    {
    }

    /// <summary>Buffer for the term that an analyzer is building.</summary>
    internal TokenBuffer Scratch { get; } = new();

    /// <summary>Buffer for the word that a stemmer is processing.</summary>
    internal Stemming.StemWord Word => _word ??= new Stemming.StemWord();

    /// <summary>State that an analyzer keeps between texts; used only by the analyzer that set it.</summary>
    internal object? Kept { get; set; }

    /// <summary>The position after the last term.</summary>
    internal int NextPosition => _position;

    /// <summary>Adds a term.</summary>
    /// <param name="term">1 or more arbitrary bytes; copied. Terms of more than 512 bytes are stored in a truncated form that is
    /// still exact for equality.</param>
    /// <param name="start">The start offset in the text, in bytes.</param>
    /// <param name="end">The end offset in the text, in bytes.</param>
    /// <param name="positionStep"> 1: directly after the previous term. Greater: words in between were skipped. 0: at the same
    /// position (a synonym, or another fragment of the same word).
    /// </param>
    /// <exception cref="ArgumentOutOfRangeException">The offsets are not valid, or the step is negative.</exception>
    public void Add(ReadOnlySpan<byte> term, int start, int end, int positionStep = 1)
    {
        ArgumentOutOfRangeException.ThrowIfNegative(start);
        ArgumentOutOfRangeException.ThrowIfLessThan(end, start);
        ArgumentOutOfRangeException.ThrowIfNegative(positionStep);

        // A text has at most 2³¹ bytes, so valid steps never come near the largest integer.
        _position = (int)Math.Min(int.MaxValue, (long)_position + positionStep);
        Accept(
            term.Length <= TermForm.MaxWholeBytes ? term : TermForm.Of(term, _cutScratch ??= new byte[TermForm.CutBytes]),
            Math.Max(0, _position - 1), start, end);
    }

    /// <summary>Begins a text whose first term is at this position.</summary>
    internal void Begin(int firstPosition) => _position = firstPosition;

    /// <summary>Ends a text and releases buffers larger than <paramref name="keepBytes"/>.</summary>
    internal void End(int keepBytes) => Scratch.Trim(keepBytes);

    /// <summary>Receives the stored form of a term, which is valid during this call.</summary>
    private protected abstract void Accept(ReadOnlySpan<byte> form, int position, int start, int end);
}

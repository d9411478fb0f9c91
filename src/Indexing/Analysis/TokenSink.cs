namespace Treepie.Indexing.Analysis;

/// <summary>
/// Receives the terms of a text, with their positions, from an <see cref="Analyzer"/>. Used by one thread during one call of
/// <see cref="Analyzer.Analyze"/>.
/// </summary>
public abstract class TokenSink
{
    /// <summary>
    /// How far apart the positions of two values of one field are, so that no phrase runs from one into the next.
    /// </summary>
    internal const int ValueGap = 100;

    private byte[]? _cutScratch;
    private Stemming.StemWord? _word;
    private int _position;

    private protected TokenSink()
    {
    }

    /// <summary>Room for the term an analyzer is making.</summary>
    internal TokenBuffer Scratch { get; } = new();

    /// <summary>Room for the word a stemmer is working on.</summary>
    internal Stemming.StemWord Word => _word ??= new Stemming.StemWord();

    /// <summary>What an analyzer keeps from one text to the next; looked at by the one that put it there.</summary>
    internal object? Kept { get; set; }

    /// <summary>The position behind the last term.</summary>
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

        // A text has at most 2³¹ bytes, so honest steps never come near the end of the numbers.
        _position = (int)Math.Min(int.MaxValue, (long)_position + positionStep);
        Accept(
            term.Length <= TermForm.MaxWholeBytes ? term : TermForm.Of(term, _cutScratch ??= new byte[TermForm.CutBytes]),
            Math.Max(0, _position - 1), start, end);
    }

    /// <summary>Begins a text whose first term is to stand at this position.</summary>
    internal void Begin(int firstPosition) => _position = firstPosition;

    /// <summary>Ends a text, giving back the memory that one huge word took.</summary>
    internal void End(int keepBytes) => Scratch.Trim(keepBytes);

    /// <summary>Takes the stored form of a term; it lives during this call.</summary>
    private protected abstract void Accept(ReadOnlySpan<byte> form, int position, int start, int end);
}

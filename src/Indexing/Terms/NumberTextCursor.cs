namespace Treepie.Indexing.Terms;

/// <summary>
/// Enumerates the numbers of a dictionary in the order of their texts, "10" before "9", without storing the texts: numbers with
/// equally many digits already have this order, so it merges one run per length. All numbers have plain text, see
/// <see cref="NumberKey.HasPlainText"/>. It moves in one direction, forwards or backwards.
/// </summary>
/// <remarks>
/// Costs: a seek takes one seek in the dictionary for each length that occurs; a step takes one step there, formatting one
/// number, and one comparison for each length.
/// </remarks>
internal sealed class NumberTextCursor : IDisposable
{
    private readonly List<NumberTextRun> _runs = [];
    private readonly bool _back;
    private NumberTextRun? _current;

    /// <param name="numbers">The dictionary of numbers.</param>
    /// <param name="back">Whether it moves from the last text to the first.</param>
    public NumberTextCursor(TermTree numbers, bool back)
    {
        _back = back;
        using TermCursor probe = numbers.OpenCursor();
        bool isThere = probe.MoveFirst();
        for (int place = 0; isThere && place < 2 * NumberTextRun.MaxDigits; place++)
        {
            bool isNegative = place < NumberTextRun.MaxDigits;
            int digits = isNegative ? NumberTextRun.MaxDigits - place : place - NumberTextRun.MaxDigits + 1;
            byte[] end = isNegative ? NumberTextRun.End(true, digits - 1) : NumberTextRun.End(false, digits);
            if (probe.Key.SequenceCompareTo(end) >= 0)
                continue;
            _runs.Add(new NumberTextRun(numbers.OpenCursor(), isNegative, digits));
            isThere = probe.Seek(end);
        }
    }

    /// <summary>The current text; valid until the cursor moves.</summary>
    public ReadOnlySpan<byte> Key => _current!.Text; // the caller reads it only after a move returned true

    /// <summary>The value of the current number.</summary>
    public ReadOnlySpan<byte> Value => _current!.Value; // as above

    /// <summary>Moves to the first text in the cursor's direction; false if there is none.</summary>
    public bool MoveFirst()
    {
        foreach (NumberTextRun run in _runs)
            run.MoveToEnd(last: _back);
        return Choose();
    }

    /// <summary>
    /// Moves to the first text that is not before <paramref name="text"/>, or backwards to the first that is not after it; false
    /// if there is none.
    /// </summary>
    public bool Seek(ReadOnlySpan<byte> text)
    {
        foreach (NumberTextRun run in _runs)
            run.Seek(text, _back);
        return Choose();
    }

    /// <summary>Moves to the next text; false after the last.</summary>
    public bool MoveNext()
    {
        _current!.Move(_back); // the last move returned true
        return Choose();
    }

    public void Dispose()
    {
        foreach (NumberTextRun run in _runs)
            run.Dispose();
        _runs.Clear();
        _current = null;
    }

    private bool Choose()
    {
        _current = null;
        foreach (NumberTextRun run in _runs)
        {
            if (run.IsThere && (_current is null || (run.Text.SequenceCompareTo(_current.Text) < 0) != _back))
                _current = run;
        }

        return _current is not null;
    }
}

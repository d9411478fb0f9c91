using System.Diagnostics;

namespace Treepie.Indexing.Terms;

/// <summary>
/// Enumerates the numbers of a dictionary in the order of their texts, "10" before "9", without storing the texts. Numbers
/// with the same number of digits already have this order, so the cursor merges one run per length. All numbers must have
/// plain text, see <see cref="NumberKey.HasPlainText"/>. The cursor moves in one direction only, forwards or backwards.
/// </summary>
/// <remarks>
/// Costs: a seek takes one seek in the dictionary for each length that occurs; a step takes one step there, formatting one
/// number, and one comparison for each length.
/// </remarks>
internal sealed class NumberTextCursor : IDisposable
{
    private static readonly (bool IsNegative, int Digits, byte[] End)[] _all = Runs();

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
        foreach ((bool isNegative, int digits, byte[] end) in _all)
        {
            if (!isThere || probe.Key.SequenceCompareTo(end) >= 0)
                continue;
            _runs.Add(new NumberTextRun(numbers.OpenCursor(), isNegative, digits));
            isThere = probe.Seek(end);
        }
    }

    private NumberTextCursor(NumberTextRun run, bool back)
    {
        _back = back;
        _runs.Add(run);
    }

    /// <summary>
    /// Enumerates the numbers between two keys. Returns null if the keys differ in sign or in their number of digits,
    /// because the texts between the texts of the ends would then include those of other numbers.
    /// </summary>
    /// <param name="numbers">The dictionary of numbers.</param>
    /// <param name="from">The first key.</param>
    /// <param name="to">The exclusive end of the keys.</param>
    /// <param name="back">Whether it moves from the last text to the first.</param>
    public static NumberTextCursor? TryOpen(TermTree numbers, byte[] from, byte[] to, bool back) =>
        RunOf(from, to) is var (isNegative, digits)
            ? new NumberTextCursor(new NumberTextRun(numbers.OpenCursor(), isNegative, digits, from, to), back)
            : null;

    /// <summary>Whether <see cref="TryOpen"/> returns a cursor for these keys.</summary>
    public static bool IsInOneRun(byte[] from, byte[] to) => RunOf(from, to) is not null;

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
    /// Moves to the first text that is not before <paramref name="text"/>, or when moving backwards to the last that is not
    /// after it; false if there is none.
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
        Debug.Assert(_current is not null, "a move follows one that found a number");
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

    /// <summary>
    /// The signs, numbers of digits and exclusive ends of the keys of all runs, in numeric order.
    /// </summary>
    private static (bool IsNegative, int Digits, byte[] End)[] Runs()
    {
        var runs = new List<(bool, int, byte[])>();
        for (int digits = NumberTextRun.MaxDigits; digits >= 1; digits--)
            runs.Add((true, digits, NumberTextRun.End(true, digits - 1)));
        for (int digits = 1; digits <= NumberTextRun.MaxDigits; digits++)
            runs.Add((false, digits, NumberTextRun.End(false, digits)));
        return [.. runs];
    }

    private static (bool IsNegative, int Digits)? RunOf(byte[] from, byte[] to)
    {
        if (from.AsSpan().SequenceCompareTo(to) >= 0)
            return null;

        foreach ((bool isNegative, int digits, byte[] end) in _all)
        {
            if (from.AsSpan().SequenceCompareTo(end) < 0)
                return to.AsSpan().SequenceCompareTo(end) <= 0 ? (isNegative, digits) : null;
        }

        return null;
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

namespace Treepie.Indexing.Terms;

/// <summary>
/// The texts of the numbers of a dictionary in the order of texts, "10" before "9", without their being kept: numbers with as
/// many digits are in this order already, so that it is a merge of as many runs as there are lengths. All numbers have plain
/// text, see <see cref="NumberKey.HasPlainText"/>. Goes one way, forwards or back.
/// </summary>
/// <remarks>
/// Costs: to seek is one in the dictionary for each length that occurs, and a step is one there, the text of a number, and a
/// comparison for each length.
/// </remarks>
internal sealed class NumberTextCursor : IDisposable
{
    private readonly List<NumberTextRun> runs = [];
    private readonly bool back;
    private NumberTextRun? current;

    /// <param name="numbers">The dictionary of numbers.</param>
    /// <param name="back">Whether it goes from the last to the first.</param>
    public NumberTextCursor(TermTree numbers, bool back)
    {
        this.back = back;
        using TermCursor probe = numbers.OpenCursor();
        bool isThere = probe.MoveFirst();
        for (int place = 0; isThere && place < 2 * NumberTextRun.MaxDigits; place++)
        {
            bool isNegative = place < NumberTextRun.MaxDigits;
            int digits = isNegative ? NumberTextRun.MaxDigits - place : place - NumberTextRun.MaxDigits + 1;
            byte[] end = isNegative ? NumberTextRun.End(true, digits - 1) : NumberTextRun.End(false, digits);
            if (probe.Key.SequenceCompareTo(end) >= 0)
                continue;
            runs.Add(new NumberTextRun(numbers.OpenCursor(), isNegative, digits));
            isThere = probe.Seek(end);
        }
    }

    /// <summary>The text it stands on; it lives until the cursor moves.</summary>
    public ReadOnlySpan<byte> Key => current!.Text; // asked for where it stands on one

    /// <summary>What stands beside the number.</summary>
    public ReadOnlySpan<byte> Value => current!.Value; // as above

    /// <summary>Goes to the first text, of those that go back the greatest; false if there is none.</summary>
    public bool MoveFirst()
    {
        foreach (NumberTextRun run in runs)
            run.MoveToEnd(last: back);
        return Choose();
    }

    /// <summary>
    /// Goes to the first text that is not before the one given, of those that go back not behind it; false if there is none.
    /// </summary>
    public bool Seek(ReadOnlySpan<byte> text)
    {
        foreach (NumberTextRun run in runs)
            run.Seek(text, back);
        return Choose();
    }

    /// <summary>Goes to the next text; false behind the last.</summary>
    public bool MoveNext()
    {
        current!.Move(back); // it stands on one
        return Choose();
    }

    public void Dispose()
    {
        foreach (NumberTextRun run in runs)
            run.Dispose();
        runs.Clear();
        current = null;
    }

    private bool Choose()
    {
        current = null;
        foreach (NumberTextRun run in runs)
        {
            if (run.IsThere && (current is null || (run.Text.SequenceCompareTo(current.Text) < 0) != back))
                current = run;
        }

        return current is not null;
    }
}

namespace Treepie.Torture.Models;

/// <summary>
/// The submitted commands by transaction number, starting from a known state, and so the state that each transaction must
/// have left. The engine assigns numbers in the order in which it runs commands. A command that is undone and run again is
/// submitted again with its number, which voids all later ones.
/// </summary>
internal sealed class History(long first, Model model)
{
    /// <summary>More transactions than a shrink makes between two commands of other clients.</summary>
    private const int MostUnsubmitted = 400;

    private readonly List<Entry> _entries = [];
    private ulong _origin = (ulong)first * 0x9E3779B97F4A7C15;

    /// <summary>The transaction whose state is known.</summary>
    public long First { get; private set; } = first;

    /// <summary>The last submitted transaction.</summary>
    public long Last => First + _entries.Count;

    /// <summary>
    /// Whether there are transactions that nobody submits: those by which a shrink moves pages between the commands of other
    /// clients. They do not change visible content.
    /// </summary>
    public bool HasUnsubmitted { get; set; }

    /// <summary>Whether a transaction is possible.</summary>
    public bool Covers(long transaction)
    {
        if (HasUnsubmitted && transaction <= Last + MostUnsubmitted)
            FillUpTo(transaction);
        return transaction <= Last;
    }

    /// <summary>Records that a command ran as this transaction.</summary>
    public void Submit(long transaction, IReadOnlyList<Change> changes)
    {
        if (HasUnsubmitted)
            FillUpTo(transaction - 1);
        int index = (int)(transaction - First - 1);
        if (index < 0 || index > _entries.Count)
            throw new InvalidOperationException($"Transaction {transaction} came after {Last}.");

        _entries.RemoveRange(index, _entries.Count - index);
        _entries.Add(new Entry(changes));
    }

    /// <summary>Whether these changes, and not another command's, were the last submitted as this transaction.</summary>
    public bool IsOf(long transaction, IReadOnlyList<Change> changes)
    {
        int index = (int)(transaction - First - 1);
        return index >= 0 && index < _entries.Count && ReferenceEquals(_entries[index].Changes, changes);
    }

    /// <summary>The expected state after a transaction.</summary>
    public Model At(long transaction)
    {
        _ = Covers(transaction);
        int index = (int)(transaction - First - 1);
        if (index < 0)
            return model;

        Entry entry = _entries[index];
        return entry.Model ??= At(transaction - 1).Apply(entry.Changes);
    }

    /// <summary>Identifies the history up to a transaction.</summary>
    public ulong HashAt(long transaction)
    {
        int index = (int)(transaction - First - 1);
        if (index < 0)
            return _origin;

        Entry entry = _entries[index];
        if (entry.Hash == 0)
        {
            ulong hash = HashAt(transaction - 1);
            foreach (Change change in entry.Changes)
                hash = unchecked((hash * 0xC2B2AE3D27D4EB4F)
                    + (ulong)HashCode.Combine(change.Kind, change.Tree, change.Key, change.Count, change.Length, change.Version));
            entry.Hash = hash | 1;
        }

        return entry.Hash;
    }

    /// <summary>Restarts the history at the state found after a crash; later transactions never happened.</summary>
    public void Settle(long transaction)
    {
        model = At(transaction);
        _origin = HashAt(transaction);
        First = transaction;
        _entries.Clear();
    }

    /// <summary>Discards everything after a transaction.</summary>
    public void CutAfter(long transaction)
    {
        _entries.RemoveRange((int)(transaction - First), (int)(Last - transaction));
        for (long id = First; id <= Last; id++)
            _ = (At(id), HashAt(id)); // computes both, so that any thread may read them from now on
    }

    /// <summary>A separate history that begins with one of the states of this one.</summary>
    public History Branch(long transaction) => new(transaction, At(transaction));

    private void FillUpTo(long transaction)
    {
        while (Last < transaction)
            _entries.Add(new Entry([]));
    }

    private sealed class Entry(IReadOnlyList<Change> changes)
    {
        public IReadOnlyList<Change> Changes => changes;

        public Model? Model { get; set; }

        public ulong Hash { get; set; }
    }
}

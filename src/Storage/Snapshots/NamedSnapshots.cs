using System.Text;
using Treepie.Storage.Format;
using Treepie.Storage.Paging;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Snapshots;

/// <summary>
/// The named snapshots of one state, in memory. Immutable, and published with each commit. On disk they are stored in the
/// system tree (see <see cref="SystemKey"/>), from which <see cref="Read"/> loads them at opening, in time that depends only
/// on their number.
/// </summary>
internal sealed class NamedSnapshots
{
    /// <summary>
    /// Maximum number of names in an environment: each takes one key of the system tree and some 200 bytes of memory.
    /// </summary>
    public const int MaxCount = 4096;

    /// <summary>Maximum length of a name in bytes of UTF-8.</summary>
    public const int MaxNameBytes = 512;

    /// <summary>The empty set.</summary>
    public static readonly NamedSnapshots None = new([], [], 0);

    private readonly NamedSnapshot[] _all;
    private readonly long[] _dropped;

    private NamedSnapshots(NamedSnapshot[] all, long[] dropped, long pinnedPages)
    {
        _all = all;
        _dropped = dropped;
        PinnedPages = pinnedPages;
    }

    /// <summary>All named snapshots, by transaction, then in order of creation.</summary>
    public IReadOnlyList<NamedSnapshot> All => _all;

    /// <summary>Transactions of dropped snapshots that still have unexamined pages, in ascending order.</summary>
    public IReadOnlyList<long> Dropped => _dropped;

    /// <summary>Number of pages that only named snapshots see, including unexamined ones of dropped snapshots.</summary>
    public long PinnedPages { get; }

    /// <summary>Transaction of the newest snapshot, or -1: no named snapshot sees a page born after it.</summary>
    public long Newest => _all.Length == 0 ? -1 : _all[^1].TransactionId;

    /// <summary>Throws if a string is not a valid name.</summary>
    public static void CheckName(string name)
    {
        ArgumentException.ThrowIfNullOrEmpty(name);
        int bytes = Encoding.UTF8.GetByteCount(name);
        if (bytes > MaxNameBytes)
            throw new ArgumentException(
                $"A snapshot's name has at most {MaxNameBytes} bytes of UTF-8; this one has {bytes}.", nameof(name));
        if (name.Any(c => char.IsControl(c) || c == '\uFFFD') || Encoding.UTF8.GetString(Encoding.UTF8.GetBytes(name)) != name)
            throw new ArgumentException(
                "A snapshot's name has no control characters and no halves of surrogate pairs.", nameof(name));
    }

    /// <summary>Reads the named snapshots from the system tree.</summary>
    public static NamedSnapshots Read(PageStore store, TreeRecord system)
    {
        if (system.Levels == 0)
            return None;

        var all = new List<NamedSnapshot>();
        using Cursor cursor = new Tree(store, "", system, null).OpenCursor();
        bool more = cursor.MoveFirst();
        for (; more && cursor.Key.Length > 0 && cursor.Key[0] == SystemKey.Name; more = cursor.MoveNext())
        {
            string name = Encoding.UTF8.GetString(cursor.Key[1..]);
            if (!SnapshotRecord.IsKnown(cursor.Value))
                throw new ForeignDataException(
                    $"The root '{name}' is of a kind this program does not know: open the environment with a newer one. Nothing "
                        + $"was written.");

            SnapshotRecord record = SnapshotRecord.TryRead(cursor.Value)
                ?? throw store.Corrupt(system.Root.Number, $"the record of snapshot '{name}' is invalid");
            all.Add(new NamedSnapshot(name, record));
        }

        NamedSnapshot[] sorted = [.. all.OrderBy(snapshot => snapshot.TransactionId)];
        var dropped = new List<long>();
        while (more && SystemKey.IsPinned(cursor.Key))
        {
            long holder = SystemKey.HolderOf(cursor.Key);
            if (!Array.Exists(sorted, snapshot => snapshot.TransactionId == holder))
                dropped.Add(holder);
            more = cursor.Seek(SystemKey.OfPinned(holder + 1, 0, 0));
        }

        return new NamedSnapshots(sorted, [.. dropped], PinnedPagesTree.ReadTotal(store, system));
    }

    /// <summary>Returns the snapshot of a name, or null.</summary>
    public NamedSnapshot? Find(string name) => Array.Find(_all, snapshot => snapshot.Name == name);

    /// <summary>Returns the transaction of the newest snapshot up to a transaction, or -1.</summary>
    public long NewestUpTo(long transaction)
    {
        for (int i = _all.Length - 1; i >= 0; i--)
            if (_all[i].TransactionId <= transaction)
                return _all[i].TransactionId;
        return -1;
    }

    /// <summary>Returns a copy with some names removed and some snapshots added.</summary>
    public NamedSnapshots With(IReadOnlySet<string> without, IEnumerable<NamedSnapshot> added) =>
        new([.. _all.Where(snapshot => !without.Contains(snapshot.Name)).Concat(added)], _dropped, PinnedPages);

    /// <summary>Returns a copy with other dropped snapshots and another number of pinned pages.</summary>
    public NamedSnapshots With(IEnumerable<long> dropped, long pinnedPages) => new(_all, [.. dropped], pinnedPages);
}

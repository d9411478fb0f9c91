using System.Diagnostics;
using Treepie.Storage.Format;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Snapshots;

/// <summary>
/// The changes that the commands of one batch make to named snapshots, and how they are written to the system tree when the
/// batch ends. Each command can be undone alone.
/// </summary>
/// <remarks>
/// A snapshot created in a command is the state that this command leaves; it ends the batch, so that no later command changes
/// pages that it shares. Names are small and few; pages held for dropped snapshots are examined here, a bounded number per
/// batch.
/// </remarks>
internal sealed class SnapshotChanges(NamedSnapshots before)
{
    /// <summary>
    /// Number of keys of pinned runs (up to a hundred runs each) that one batch examines for dropped snapshots: some
    /// milliseconds.
    /// </summary>
    private const int MaxKeysPassedOn = 32;

    private readonly List<Change> _changes = [];
    private int _mark;
    private int _count = before.All.Count;
    private int _countAtMark = before.All.Count;

    /// <summary>Whether there are changes to write.</summary>
    public bool Any => _changes.Count > 0;

    /// <summary>Whether a snapshot was created, so that no further command may join the batch.</summary>
    public bool EndsBatch => _changes.Exists(change => change.Made is not null);

    /// <summary>Whether the batch is to examine pages of dropped snapshots even if it changes nothing else.</summary>
    public bool IsCleaning { get; set; }

    /// <summary>Whether it is unused and based on the same named snapshots, so that it can be reused.</summary>
    public bool IsUnusedOn(NamedSnapshots current) => !Any && !IsCleaning && ReferenceEquals(before, current);

    public void BeginCommand() => (_mark, _countAtMark) = (_changes.Count, _count);

    public void UndoCommand()
    {
        Debug.Assert(_mark <= _changes.Count, "changes of earlier commands stay");
        _changes.RemoveRange(_mark, _changes.Count - _mark);
        _count = _countAtMark;
    }

    /// <summary>Records the creation of a snapshot. The root of the catalogue is filled in when it is known.</summary>
    public SnapshotInfo Create(string name, long transaction, long nowMs)
    {
        NamedSnapshots.CheckName(name);
        if (Exists(name))
            throw new SnapshotExistsException($"There is a snapshot '{name}' already: drop it first, or choose another name.");
        if (_count >= NamedSnapshots.MaxCount)
            throw new StorageException($"There are {NamedSnapshots.MaxCount} named snapshots, the most there may be; drop some.");

        var record = new SnapshotRecord(transaction, nowMs, default, 0);
        _changes.Add(new Change(name, record));
        _count++;
        return new NamedSnapshot(name, record).Describe();
    }

    /// <summary>Records the drop of a snapshot; false if there is none of that name.</summary>
    public bool Drop(string name)
    {
        NamedSnapshots.CheckName(name);
        if (!Exists(name))
            return false;

        _changes.Add(new Change(name, null));
        _count--;
        return true;
    }

    /// <summary>
    /// Writes all changes to the system tree, after the catalogue of the batch is final. Removes from the freed runs of
    /// <paramref name="pages"/> those that a snapshot sees, and adds those that no snapshot sees any more.
    /// </summary>
    public NamedSnapshots Write(Tree system, PageWriter pages, TreeRecord catalogue, uint nextTreeId)
    {
        int freedByCommands = pages.FreedCount;
        NamedSnapshots after = WriteNames(system, catalogue, nextTreeId, out NamedSnapshots seenFrom);

        long pinnedPages = before.PinnedPages;
        List<PageWriter.FreedRun> pinned = pages.TakeFreed(freedByCommands, seenFrom.Newest);
        if (pinned.Count > 0)
            pinnedPages += PinnedPagesTree.Add(system, seenFrom.Newest, pages.Birth, pinned);

        List<long> dropped = [.. after.Dropped];
        if (dropped.Count > 0)
        {
            var free = new List<PinnedRun>();
            if (!PinnedPagesTree.TryPassOn(system, dropped[^1], seenFrom.NewestUpTo(dropped[^1]), MaxKeysPassedOn, free))
                dropped.RemoveAt(dropped.Count - 1);
            foreach (PinnedRun run in free)
            {
                pages.FreeUnpinned(run.Run, run.Birth, run.Freed);
                pinnedPages -= run.Run.Pages;
            }
        }

        if (pinnedPages != before.PinnedPages)
            PinnedPagesTree.SetTotal(system, pinnedPages);
        return after.With(dropped, pinnedPages);
    }

    private NamedSnapshots WriteNames(Tree system, TreeRecord catalogue, uint nextTreeId, out NamedSnapshots seenFrom)
    {
        var last = new Dictionary<string, SnapshotRecord?>(StringComparer.Ordinal);
        foreach (Change change in _changes)
            last[change.Name] = change.Made;

        Span<byte> value = stackalloc byte[SnapshotRecord.SizeBytes];
        var gone = new HashSet<string>(StringComparer.Ordinal);
        var made = new List<NamedSnapshot>();
        foreach ((string name, SnapshotRecord? record) in last)
        {
            if (before.Find(name) is not null)
                gone.Add(name);
            if (record is { } kept)
            {
                kept = kept with { Catalogue = catalogue, NextTreeId = nextTreeId };
                kept.Write(value);
                system.Put(SystemKey.OfName(name), value);
                made.Add(new NamedSnapshot(name, kept));
            }
            else if (gone.Contains(name))
            {
                system.Delete(SystemKey.OfName(name));
            }
        }

        // Pages freed by this batch are seen by the earlier snapshots that remain.
        seenFrom = before.With(gone, []);
        NamedSnapshots remaining = seenFrom;
        IEnumerable<long> orphans = before.All
            .Where(snapshot => gone.Contains(snapshot.Name))
            .Select(snapshot => snapshot.TransactionId)
            .Where(transaction => remaining.NewestUpTo(transaction) != transaction);
        return seenFrom.With([.. before.Dropped.Concat(orphans).Distinct().Order()], before.PinnedPages)
            .With(new HashSet<string>(), made);
    }

    private bool Exists(string name)
    {
        int index = _changes.FindLastIndex(change => change.Name == name);
        return index >= 0 ? _changes[index].Made is not null : before.Find(name) is not null;
    }

    private sealed record Change(string Name, SnapshotRecord? Made);
}

using Treepie.Storage.Format;
using Treepie.Storage.FreeSpace;
using Treepie.Storage.Paging;
using Treepie.Storage.Snapshots;
using Treepie.Storage.Trees;

namespace Treepie.Storage.Transactions;

/// <summary>One merged batch of commands: its pages, and what it did to the catalogue of trees. A command is undone alone.</summary>
internal sealed class MergedBatch(PageStore store, FreePages space, Snapshot basis, PageLocator locator, BatchMemory memory, TimeProvider clock)
{
    private readonly Dictionary<string, TreeRecord?> _trees = memory.Trees;
    private uint _treeIdMark;

    /// <summary>The pages of the batch.</summary>
    public PageWriter Pages { get; } = new(store, space, basis.TransactionId + 1, locator, memory);

    /// <summary>First transaction of the batch.</summary>
    public long Birth => Pages.Birth;

    /// <summary>The catalogue with the changes of the batch, once finished.</summary>
    public TreeRecord Catalogue { get; private set; } = basis.Catalogue;

    /// <summary>The system tree with the changes of the batch, once finished.</summary>
    public TreeRecord System { get; private set; } = basis.System;

    /// <summary>The named snapshots after the batch, once finished.</summary>
    public NamedSnapshots Named { get; private set; } = basis.Named;

    /// <summary>What the commands did to named snapshots.</summary>
    public SnapshotChanges Snapshots { get; } = new(basis.Named);

    /// <summary>The id the next new tree gets.</summary>
    public uint NextTreeId { get; set; } = basis.NextTreeId;

    /// <summary>Where seeds of new maps begin.</summary>
    public ulong HashSeed { get; init; }

    /// <summary>Pages of catalogue and system tree from this one on are written again elsewhere when the batch ends; 0: none.</summary>
    public long MoveFrom { get; set; }

    /// <summary>Whether anything was changed.</summary>
    public bool HasChanges => Pages.HasChanges || _trees.Count > 0 || Snapshots.Any || MoveFrom > 0 || (Snapshots.IsCleaning && basis.Named.Dropped.Count > 0);

    /// <summary>Notes that a command makes a named snapshot.</summary>
    public SnapshotInfo CreateSnapshot(string name, long transaction) => Snapshots.Create(name, transaction, clock.GetUtcNow().ToUnixTimeMilliseconds());

    /// <summary>From here on changes belong to the next command.</summary>
    public void BeginCommand()
    {
        Pages.BeginCommand();
        Snapshots.BeginCommand();
        _treeIdMark = NextTreeId;
    }

    /// <summary>Undoes what the command did, and only that.</summary>
    public void UndoCommand()
    {
        Pages.UndoCommand();
        Snapshots.UndoCommand();
        NextTreeId = _treeIdMark;
    }

    /// <summary>Writes the changed trees into the catalogue and gives back what was made and freed within the batch.</summary>
    public void Finish()
    {
        Pages.BeginCommand();
        var catalogue = new Tree(store, "", Catalogue, Pages);
        Span<byte> value = stackalloc byte[TreeRecord.SizeBytes];
        foreach ((string name, TreeRecord? record) in _trees)
        {
            byte[] key = Transactions.Catalogue.KeyOf(name);
            if (record is { } kept)
            {
                kept.Write(value);
                catalogue.Put(key, value);
            }
            else
            {
                catalogue.Delete(key);
            }
        }

        if (MoveFrom > 0)
            new TreeMover(catalogue, Pages, MoveFrom, basis.Named.Newest).Run([]);
        Catalogue = catalogue.Record;
        if (MoveFrom > 0 || Snapshots.Any || basis.Named.All.Count > 0 || basis.Named.Dropped.Count > 0)
            FinishSnapshots();
        Pages.Finish();
    }

    /// <summary>What the store has to remember may use the room that is kept for deletes: dropping a snapshot must work on a full disk.</summary>
    private void FinishSnapshots()
    {
        Pages.MayUseReserve = true;
        var system = new Tree(store, "", System, Pages);
        Named = Snapshots.Write(system, Pages, Catalogue, NextTreeId);
        if (MoveFrom > 0)
            new TreeMover(system, Pages, MoveFrom, seenUpTo: -1).Run([]);
        System = system.Record;
    }

    /// <summary>The tree of that name as the commands so far left it.</summary>
    public TreeRecord? FindTree(string name) =>
        _trees.TryGetValue(name, out TreeRecord? record) ? record : Transactions.Catalogue.Find(store, basis.Catalogue, name);

    /// <summary>Notes what a command made of a tree; null: dropped.</summary>
    public void SetTree(string name, TreeRecord? record)
    {
        if (_trees.ContainsKey(name) || Transactions.Catalogue.Find(store, basis.Catalogue, name) != record)
            _trees[name] = record;
    }

    /// <summary>Names of the trees or maps there are now, in no order.</summary>
    public IEnumerable<string> ReadNames(TreeKind kind)
    {
        var names = new HashSet<string>(Transactions.Catalogue.ReadNames(store, basis.Catalogue, kind), StringComparer.Ordinal);
        foreach ((string name, TreeRecord? record) in _trees)
        {
            if (record?.Kind == kind)
                names.Add(name);
            else
                names.Remove(name);
        }

        return names;
    }
}

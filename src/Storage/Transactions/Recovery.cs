using System.Diagnostics;
using Treepie.Storage.Format;
using Treepie.Storage.FreeSpace;
using Treepie.Storage.Journal;
using Treepie.Storage.Paging;
using Treepie.Storage.Snapshots;

namespace Treepie.Storage.Transactions;

/// <summary>
/// Loads the state of the last checkpoint and applies the journal frames after it, in memory. Writes nothing, so it can be
/// interrupted and run again.
/// </summary>
internal sealed class Recovery(PageStore store, FreePages space, MetaPage meta)
{
    private readonly Dictionary<long, PageRun> _freed = [];
    private Snapshot _snapshot = new(meta.LastTransaction, meta.Catalogue, meta.NextTreeId, meta.PageCount)
    {
        System = meta.System
    };
    private long _pageCount = meta.PageCount;

    /// <summary>Recovers; returns the newest state and the end of the journal.</summary>
    public Snapshot Run(JournalReader journal, out JournalPosition end)
    {
        end = journal.Read(meta.Journal, meta.LastTransaction, meta.IsClean, Apply);
        space.FinishLoad(_pageCount, _freed.Values, _snapshot.TransactionId);
        return _snapshot with { Named = NamedSnapshots.Read(store, _snapshot.System) };
    }

    private void Apply(FrameHeader header, ReadOnlySpan<byte> payload)
    {
        Debug.Assert(
            header.FirstTransaction == _snapshot.TransactionId + 1 && header.LastTransaction >= header.FirstTransaction,
            "the reader gives frames in order, without a gap");
        if (JournalPayload.FindFault(payload) is { } fault)
            throw store.CorruptFrame(header.Frame, header.FirstTransaction, fault);

        var content = new JournalContent(payload);
        _pageCount = Math.Max(_pageCount, content.PageCount);
        store.GrowTable(_pageCount);
        ReadOnlySpan<byte> rest = content.FirstChanged;
        for (int i = 0; i < content.ChangedPages; i++)
            rest = rest[ApplyPage(header.FirstTransaction, rest)..];
        for (int i = 0; i < content.FreedRuns; i++)
            Free(content.Freed(i));
        _snapshot = new Snapshot(header.LastTransaction, content.Catalogue, content.NextTreeId, _pageCount)
        {
            System = content.System
        };
    }

    private int ApplyPage(long birth, ReadOnlySpan<byte> source)
    {
        var changed = new ChangedPage(source);
        PageRun run = changed.Run;
        for (long page = run.First; page < run.First + run.Pages; page++)
            _freed.Remove(page);

        store.Forget(run.First);
        space.LoadLive(run);
        Span<byte> bytes = store.Place(run.First, run.Pages, birth, out _);
        if (changed.From != 0)
            ReadOriginal(changed.From, changed.FromBirth).CopyTo(bytes);
        else
            bytes.Clear();

        int length = JournalPayload.Apply(source, bytes);
        return changed.FindFault(bytes, birth) is { } fault
            ? throw store.Corrupt(run.First, $"as a frame of the journal makes it: {fault}")
            : length;
    }

    /// <summary>
    /// Returns the page that another was copied from, in its original state: from an earlier frame or the checkpoint.
    /// </summary>
    private Span<byte> ReadOriginal(long number, long birth)
    {
        Span<byte> bytes = store.Read(number);
        if (new Page(bytes).Birth != birth)
            throw store.Corrupt(
                number,
                $"made by transaction {new Page(bytes).Birth}, the journal knows it from {birth}: a write was lost, or a newer "
                    + $"meta page than that of transaction {meta.LastTransaction} is damaged");
        return bytes;
    }

    private void Free(PageRun run)
    {
        store.Forget(run.First);
        for (long page = run.First; page < run.First + run.Pages; page++)
        {
            space.LoadDead(page);
            _freed[page] = new PageRun(page, 1);
        }
    }
}

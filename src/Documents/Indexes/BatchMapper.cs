using System.Diagnostics;
using Treepie.Indexing;
using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>
/// Maps changes of documents to batches of an index, on one or several threads. The contents and the end of a batch do not
/// depend on the number of threads: the log is cut into ranges by its content alone, each thread maps whole ranges, and
/// their results are appended in order. Not thread-safe. Keeps its buffers between batches until <see cref="Release"/>.
/// </summary>
internal sealed class BatchMapper(DocumentIndex index, IndexingContext context)
{
    private readonly Stack<Mapper> _free = new();
    private FieldRange _fields;
    private IndexWriter? _writer;

    /// <summary>Maps the changes after an etag, up to another etag or the end of the log, until the batch is full.</summary>
    /// <param name="batch">An empty batch.</param>
    /// <param name="fields">The fields to map.</param>
    /// <param name="afterEtag">The etag after which to start.</param>
    /// <param name="untilEtag">The last etag to map.</param>
    /// <param name="stop">Cancels the mapping.</param>
    public MappedBatch Map(MapBatch batch, FieldRange fields, long afterEtag, long untilEtag, CancellationToken stop)
    {
        if (_fields != fields || _writer != index.Writer)
            _free.Clear();
        (_fields, _writer) = (fields, index.Writer);
        long begun = context.TimeProvider.GetTimestamp();
        using DatabaseSnapshot snapshot = context.BeginRead();
        using MappedChanges feed = index.Changes(snapshot, afterEtag);

        // The first vector determines the number of dimensions: until then, changes are mapped sequentially.
        bool isAlone = context.Options.Mappers == 1 || index.Writer.AreDimensionsOpen || index.Definition.HasReferences;
        bool isComplete = isAlone
            ? MapAlone(batch, snapshot, feed, afterEtag, untilEtag, begun, out long reached, stop)
            : MapTogether(batch, snapshot, feed, afterEtag, untilEtag, begun, out reached, stop);
        return new MappedBatch(
            batch, isComplete ? Math.Min(untilEtag, snapshot.LastEtag) : reached, isComplete, begun,
            context.TimeProvider.GetTimestamp());
    }

    /// <summary>
    /// Returns whether there are more changes than can be mapped and written at once without a noticeable delay.
    /// </summary>
    public bool IsMuch(long afterEtag)
    {
        const int Few = 64;
        using DatabaseSnapshot snapshot = context.BeginRead();
        using MappedChanges feed = index.Changes(snapshot, afterEtag);
        var cut = default(RangeCut);
        for (int count = 0; feed.MoveNext(); count++)
        {
            if (count == Few || cut.Takes(feed))
                return true;
            snapshot.ReleasePages();
        }

        return false;
    }

    /// <summary>Releases the buffers.</summary>
    public void Release() => _free.Clear();

    private bool MapAlone(
        MapBatch batch, DatabaseSnapshot snapshot, MappedChanges feed, long afterEtag, long untilEtag, long begun,
        out long reached, CancellationToken stop)
    {
        var cut = default(RangeCut);
        long last = afterEtag;
        reached = 0;
        bool isMore = feed.MoveNext() && feed.Etag <= untilEtag;
        while (isMore)
        {
            if (!batch.Add(feed))
            {
                reached = last;
                return false;
            }

            bool isEnd = cut.Takes(feed);
            snapshot.ReleasePages(); // the batch has copied what it needs
            stop.ThrowIfCancellationRequested();
            last = reached = feed.Etag;
            isMore = feed.MoveNext() && feed.Etag <= untilEtag;
            if (isEnd && isMore && IsFull(batch, begun))
                return false;
        }

        return true;
    }

    private bool MapTogether(
        MapBatch batch, DatabaseSnapshot snapshot, MappedChanges feed, long afterEtag, long untilEtag, long begun,
        out long reached, CancellationToken stop)
    {
        using var enough = CancellationTokenSource.CreateLinkedTokenSource(stop);
        var atWork = new Queue<(ChangeRange Range, Mapper Mapper, QuietJob<bool> Job)>();
        reached = afterEtag;
        try
        {
            while (true)
            {
                while (atWork.Count < context.Options.Mappers
                    && TryCut(snapshot, feed, ref afterEtag, untilEtag, out ChangeRange range))
                {
                    Mapper mapper = _free.TryPop(out Mapper? free)
                        ? free
                        : new Mapper(index, index.BeginBatch(_fields, context.TimeProvider));
                    DatabaseSnapshot same = snapshot.BeginSame();
                    atWork.Enqueue((range, mapper, context.Workers.Run(() => mapper.Map(same, range, enough.Token))));
                }

                if (!atWork.TryPeek(out var first))
                    return true;
                first.Job.Wait();
                atWork.Dequeue();
                batch.Append(first.Mapper.Batch);
                reached = first.Range.LastEtag;
                Free(first.Mapper);
                if (IsFull(batch, begun) && (atWork.Count > 0 || TryCut(snapshot, feed, ref afterEtag, untilEtag, out _)))
                    return false;
            }
        }
        finally
        {
            // Ranges mapped beyond the end of this batch are mapped again for the next one. Wait for all jobs, as they read
            // the snapshots opened here.
            enough.Cancel();
            foreach ((_, Mapper mapper, QuietJob<bool> job) in atWork)
            {
                job.WaitForEnd();
                Free(mapper);
            }
        }
    }

    /// <summary>Cuts off the next range of the log; returns false at the end.</summary>
    private static bool TryCut(
        DatabaseSnapshot snapshot, MappedChanges feed, ref long afterEtag, long untilEtag, out ChangeRange range)
    {
        var cut = default(RangeCut);
        long last = afterEtag;
        bool isEnd = false;
        while (!isEnd && feed.MoveNext() && feed.Etag <= untilEtag)
        {
            last = feed.Etag;
            isEnd = cut.Takes(feed);
            snapshot.ReleasePages();
        }

        range = new ChangeRange(afterEtag, last);
        bool isAny = last > afterEtag;
        afterEtag = last;
        return isAny;
    }

    private void Free(Mapper mapper)
    {
        mapper.Batch.Clear();
        _free.Push(mapper);
    }

    private bool IsFull(MapBatch batch, long begun) =>
        batch.SizeBytes >= context.Options.MaxBatchBytes
            || batch.Count >= context.Options.MaxBatchChanges
            || context.TimeProvider.GetElapsedTime(begun) >= context.Options.MaxBatchTime;

    /// <summary>The buffers of one mapping thread.</summary>
    private sealed class Mapper(DocumentIndex index, MapBatch batch)
    {
        /// <summary>The result of the last range mapped.</summary>
        public MapBatch Batch { get; } = batch;

        /// <summary>Maps a range and disposes the snapshot.</summary>
        public bool Map(DatabaseSnapshot snapshot, ChangeRange range, CancellationToken stop)
        {
            using (snapshot)
            {
                stop.ThrowIfCancellationRequested();
                using MappedChanges feed = index.Changes(snapshot, range.AfterEtag);
                while (feed.MoveNext() && feed.Etag <= range.LastEtag)
                {
                    Batch.Add(feed);
                    snapshot.ReleasePages();
                    stop.ThrowIfCancellationRequested();
                }

                Debug.Assert(Batch.Count > 0, "a piece has changes");
                return true;
            }
        }
    }
}

/// <summary>A range of fields of an index, from the first up to but not including the end.</summary>
internal readonly record struct FieldRange(int First, int End);

/// <summary>A mapped batch.</summary>
/// <param name="Batch">The changes to commit.</param>
/// <param name="Reached">The etag up to which the batch has all changes.</param>
/// <param name="IsComplete">Whether there were no further changes.</param>
/// <param name="Begun">When mapping started, as a timestamp of the clock.</param>
/// <param name="Ended">When mapping ended, as a timestamp of the clock.</param>
internal sealed record MappedBatch(MapBatch Batch, long Reached, bool IsComplete, long Begun, long Ended);

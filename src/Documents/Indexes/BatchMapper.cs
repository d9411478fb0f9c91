using System.Diagnostics;
using Treepie.Indexing;
using Treepie.Store;

namespace Treepie.Indexes;

/// <summary>
/// Turns changes of documents into batches of an index, on one thread or on several. What a batch holds, and where it ends, is
/// the same whatever their number: the log is cut into pieces by its content alone, each thread maps whole pieces, and the pieces
/// are put together in their order. Used by one caller at a time; memory is kept from batch to batch until it is released.
/// </summary>
internal sealed class BatchMapper(DocumentIndex index, IndexingContext context)
{
    private readonly Stack<Mapper> _free = new();
    private FieldRange _fields;
    private IndexWriter? _writer;

    /// <summary>Maps the changes behind an etag, up to another one or the last there is, until the batch is full.</summary>
    /// <param name="batch">An empty batch.</param>
    /// <param name="fields">The fields to be mapped.</param>
    /// <param name="afterEtag">Where to begin.</param>
    /// <param name="untilEtag">Where to end.</param>
    /// <param name="stop">Gives it up.</param>
    public MappedBatch Map(MapBatch batch, FieldRange fields, long afterEtag, long untilEtag, CancellationToken stop)
    {
        if (_fields != fields || _writer != index.Writer)
            _free.Clear();
        (_fields, _writer) = (fields, index.Writer);
        long begun = context.TimeProvider.GetTimestamp();
        using DatabaseSnapshot snapshot = context.BeginRead();
        using MappedChanges feed = index.Changes(snapshot, afterEtag);

        // The first vector of all says how many numbers the others have: until then they come one after the other.
        bool isAlone = context.Options.Mappers == 1 || index.Writer.AreDimensionsOpen || index.Definition.HasReferences;
        bool isComplete = isAlone
            ? MapAlone(batch, snapshot, feed, afterEtag, untilEtag, begun, out long reached, stop)
            : MapTogether(batch, snapshot, feed, afterEtag, untilEtag, begun, out reached, stop);
        return new MappedBatch(
            batch, isComplete ? Math.Min(untilEtag, snapshot.LastEtag) : reached, isComplete, begun,
            context.TimeProvider.GetTimestamp());
    }

    /// <summary>Whether there is more than can be mapped and written at once without anybody noticing.</summary>
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

    /// <summary>Gives up the memory that is kept.</summary>
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
            // What was mapped too much is mapped again for the next batch; everybody is waited for, as they read what this one
            // opened.
            enough.Cancel();
            foreach ((_, Mapper mapper, QuietJob<bool> job) in atWork)
            {
                job.WaitForEnd();
                Free(mapper);
            }
        }
    }

    /// <summary>Cuts off the next piece of the log; false at its end.</summary>
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

    /// <summary>What one thread maps with.</summary>
    private sealed class Mapper(DocumentIndex index, MapBatch batch)
    {
        /// <summary>What the piece mapped last has become.</summary>
        public MapBatch Batch { get; } = batch;

        /// <summary>Maps a piece, and ends the snapshot.</summary>
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

/// <summary>Fields of an index from a place on up to another.</summary>
internal readonly record struct FieldRange(int First, int End);

/// <summary>A batch that was mapped.</summary>
/// <param name="Batch">What is to be committed.</param>
/// <param name="Reached">It has all changes up to this etag.</param>
/// <param name="IsComplete">Whether there were no more.</param>
/// <param name="Begun">When it was begun, by the clock's timestamp.</param>
/// <param name="Ended">When all of it was mapped, by the same.</param>
internal sealed record MappedBatch(MapBatch Batch, long Reached, bool IsComplete, long Begun, long Ended);

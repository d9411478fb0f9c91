using Treepie.Storage.Format;

namespace Treepie.Storage.Journal;

/// <summary>The files an archiver has yet to take, and their way to it: one at a time, oldest first, a bounded number.</summary>
internal sealed class JournalArchive(IJournalArchiver archiver, int maxFiles, Action<Action> background) : IDisposable
{
    private readonly Lock _lock = new();
    private readonly LinkedList<Waiting> _waiting = [];
    private readonly CancellationTokenSource _stop = new();
    private Waiting? _running;
    private long _givenUp;
    private Exception? _error;

    /// <summary>Files that were used again without having been taken.</summary>
    public long GivenUp => Interlocked.Read(ref _givenUp);

    /// <summary>Files that wait.</summary>
    public int Count
    {
        get
        {
            lock (_lock)
                return _waiting.Count;
        }
    }

    /// <summary>Why the archiver did not take the last file it was given, or null.</summary>
    public Exception? LastError => Volatile.Read(ref _error);

    /// <summary>Files of sessions before that the archiver does not have.</summary>
    public void Begin(IEnumerable<JournalFile> files)
    {
        long last = archiver.LastUse;
        foreach (JournalFile file in files.Where(file => file.Header?.Use > last).OrderBy(file => file.Header?.Use))
            Add(file, file.Header!.Value, file.LengthBytes); // the filter let only files with a header through
    }

    /// <summary>No more frames will be added to this file.</summary>
    public void Seal(JournalFile file, JournalFileHeader header, long endOffset)
    {
        lock (_lock)
            if (!_waiting.Any(other => other.File == file))
                Add(file, header, endOffset);
        background(Run);
    }

    /// <summary>Lets nothing further begin.</summary>
    public void Stop() => _stop.Cancel();

    public void Dispose() => _stop.Dispose();

    private void Add(JournalFile file, JournalFileHeader header, long lengthBytes)
    {
        lock (_lock)
        {
            file.IsAwaited = true;
            _waiting.AddLast(new Waiting(file, new JournalSegment(file.File, header.StoreId, header.Use, lengthBytes)));
            for (LinkedListNode<Waiting>? node = _waiting.First; node is not null && _waiting.Count > maxFiles;)
            {
                LinkedListNode<Waiting>? next = node.Next;
                if (node.Value != _running)
                {
                    node.Value.File.IsAwaited = false;
                    _waiting.Remove(node);
                    _givenUp++;
                }

                node = next;
            }
        }
    }

    private void Run()
    {
        while (true)
        {
            Waiting next;
            lock (_lock)
            {
                if (_running is not null || _waiting.First is null || _stop.IsCancellationRequested)
                    return;

                _running = next = _waiting.First.Value;
            }

            Exception? failure = null;
            try
            {
                archiver.Archive(next.Segment, _stop.Token);
            }
            catch (Exception error)
            {
                failure = error; // of whatever kind: it is the archiver's
            }

            lock (_lock)
            {
                _running = null;
                Volatile.Write(ref _error, failure);
                if (failure is not null)
                    return; // it is asked again with the next file

                next.File.IsAwaited = false;
                _waiting.Remove(next);
            }
        }
    }

    private sealed record Waiting(JournalFile File, JournalSegment Segment);
}

namespace Treepie.Bench.Stores;

/// <summary>
/// A store whose application merges the transactions that wait into one: what a user of an engine without group commit can build
/// in front of it. Who gets the lock writes for all that queued meanwhile. The engine stays open when this ends.
/// </summary>
internal sealed class MergedStore(IKeyValueStore inner) : IKeyValueStore
{
    private readonly Lock _writing = new();
    private readonly List<Session> _waiting = [];
    private readonly Entries _merged = new();
    private IKeyValueSession? _writer;

    public IKeyValueSession OpenSession() => new Session(this, inner.OpenSession());

    public void Dispose() => _writer?.Dispose();

    private sealed class Session(MergedStore owner, IKeyValueSession reader) : IKeyValueSession
    {
        private Entries? _entries;

        public void Write(Entries entries)
        {
            Volatile.Write(ref _entries, entries);
            lock (owner._waiting)
                owner._waiting.Add(this);
            lock (owner._writing)
            {
                if (Volatile.Read(ref _entries) is not null)
                    owner.WriteWaiting();
            }
        }

        public int PutIfAbsent(Entries entries) => throw new NotSupportedException("Only writes are merged.");

        public ulong Read(Entries keys) => reader.Read(keys);

        public ulong ReadRange(ReadOnlySpan<byte> from, int count) => reader.ReadRange(from, count);

        public void Dispose() => reader.Dispose();

        public Entries Take() =>
            Interlocked.Exchange(ref _entries, null) ?? throw new InvalidOperationException("Who waits has entries.");
    }

    private void WriteWaiting()
    {
        _merged.Clear();
        lock (_waiting)
        {
            foreach (Session session in _waiting)
                _merged.Add(session.Take());
            _waiting.Clear();
        }

        (_writer ??= inner.OpenSession()).Write(_merged);
    }
}

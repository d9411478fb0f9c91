namespace Treepie.Bench.Stores;

/// <summary>
/// An ordered store of bytes under measurement, ours or a peer. Any thread may open sessions; a session belongs to one thread at
/// a time.
/// </summary>
internal interface IKeyValueStore : IDisposable
{
    /// <summary>Opens what one client works through: a connection, reusable transactions, buffers.</summary>
    IKeyValueSession OpenSession();
}

/// <summary>What one client does. Each call is one transaction, durable where the store was opened so.</summary>
internal interface IKeyValueSession : IDisposable
{
    /// <summary>Puts all entries.</summary>
    void Write(Entries entries);

    /// <summary>Puts the entries whose keys are not there; returns how many those were.</summary>
    int PutIfAbsent(Entries entries);

    /// <summary>Reads every key of the entries from one snapshot; returns the <see cref="Digest"/> of what was found.</summary>
    ulong Read(Entries keys);

    /// <summary>
    /// Reads so many entries in order, from the first key that is not below <paramref name="from"/>; returns their
    /// <see cref="Digest"/>.
    /// </summary>
    ulong ReadRange(ReadOnlySpan<byte> from, int count);
}

/// <summary>How a store is opened, alike for all.</summary>
/// <param name="IsDurable">Whether a transaction is on the disk when it returns; otherwise the engine writes whenever it
/// likes.</param>
/// <param name="MemoryBytes">Memory for caches: enough for all data of the run.</param>
internal sealed record StoreSettings(bool IsDurable, long MemoryBytes);

/// <summary>An engine that may be on this machine.</summary>
/// <param name="Name">Its name and version, as tables show it.</param>
/// <param name="IsPresent">Whether its library was found.</param>
/// <param name="Open">Opens a store in an empty or former directory of its own.</param>
internal sealed record StoreEngine(string Name, bool IsPresent, Func<string, StoreSettings, IKeyValueStore> Open);

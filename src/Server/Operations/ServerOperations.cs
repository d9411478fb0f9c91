using System.Collections.Concurrent;

namespace Treepie.Server.Operations;

/// <summary>
/// The operations of a server: those of each database, and those that belong to none, such as restores. Thread-safe.
/// </summary>
internal sealed class ServerOperations(int maxRemembered)
{
    private readonly ConcurrentDictionary<string, OperationRegistry> _ofDatabases = new(StringComparer.OrdinalIgnoreCase);

    /// <summary>Operations of the server as a whole.</summary>
    public OperationRegistry OfServer { get; } = new(maxRemembered);

    /// <summary>Operations of a database that is there: whoever asks has entered it.</summary>
    public OperationRegistry Of(string database) => _ofDatabases.GetOrAdd(database, _ => new OperationRegistry(maxRemembered));

    /// <summary>Forgets the operations of a database that was deleted: another one of its name has none of them.</summary>
    public void Forget(string database) => _ofDatabases.TryRemove(database, out _);
}

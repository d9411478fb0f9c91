using System.Collections.Concurrent;

namespace Treepie.Server.Operations;

/// <summary>
/// The operations of a server: those of each database, and those of the server as a whole, such as restores. Thread-safe.
/// </summary>
internal sealed class ServerOperations(int maxRemembered)
{
    private readonly ConcurrentDictionary<string, OperationRegistry> _ofDatabases = new(StringComparer.OrdinalIgnoreCase);

    /// <summary>The operations of the server as a whole.</summary>
    public OperationRegistry OfServer { get; } = new(maxRemembered);

    /// <summary>Returns the operations of a database, which the caller must have entered.</summary>
    public OperationRegistry Of(string database) => _ofDatabases.GetOrAdd(database, _ => new OperationRegistry(maxRemembered));

    /// <summary>Removes the operations of a deleted database; a new database with its name must not inherit them.</summary>
    public void Forget(string database) => _ofDatabases.TryRemove(database, out _);
}

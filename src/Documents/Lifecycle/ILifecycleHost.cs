using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Lifecycle;

/// <summary>What the room needs of the database.</summary>
internal interface ILifecycleHost
{
    TimeProvider Clock { get; }

    DatabaseSnapshot BeginRead();

    /// <summary>Runs a command in a durable step of its own.</summary>
    Task<T> WriteAsync<T>(Func<DocumentWriter, T> command, CancellationToken cancellationToken);

    /// <summary>Writes a batch.</summary>
    Task WriteAsync(WriteBatch batch, CancellationToken cancellationToken);
}

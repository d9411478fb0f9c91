using Treepie.Store;
using Treepie.Writes;

namespace Treepie.Revisions;

/// <summary>What the room needs of the database.</summary>
internal interface IRevisionHost
{
    DatabaseOptions Options { get; }

    DatabaseSnapshot BeginRead();

    Task WriteAsync(WriteBatch batch, CancellationToken cancellationToken);

    /// <summary>Runs a command in a durable step of its own.</summary>
    Task<T> WriteAsync<T>(Func<DocumentWriter, T> command, CancellationToken cancellationToken);
}

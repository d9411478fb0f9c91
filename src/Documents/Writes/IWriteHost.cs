using Treepie.Storage;
using Treepie.Store;

namespace Treepie.Writes;

/// <summary>The part of a database used by rooms that read and write documents.</summary>
internal interface IWriteHost
{
    DatabaseOptions Options { get; }

    /// <summary>The environment of its documents.</summary>
    StorageEnvironment Environment { get; }

    DatabaseSnapshot BeginRead();

    /// <summary>Writes a batch durably, without allocating results of its commands.</summary>
    Task WriteWithoutResultsAsync(WriteBatch batch, CancellationToken cancellationToken);

    /// <summary>Runs a command in a durable transaction of its own.</summary>
    Task<T> WriteAsync<T>(Func<DocumentWriter, T> command, CancellationToken cancellationToken);
}

using Treepie.Storage;
using Treepie.Store;

namespace Treepie.Writes;

/// <summary>What rooms that read and write documents use of a database.</summary>
internal interface IWriteHost
{
    DatabaseOptions Options { get; }

    /// <summary>Where its documents are.</summary>
    StorageEnvironment Environment { get; }

    DatabaseSnapshot BeginRead();

    /// <summary>Writes a batch, durably; nothing is allocated for the results of its commands.</summary>
    Task WriteWithoutResultsAsync(WriteBatch batch, CancellationToken cancellationToken);

    /// <summary>Runs a command in a durable step of its own.</summary>
    Task<T> WriteAsync<T>(Func<DocumentWriter, T> command, CancellationToken cancellationToken);
}

using Treepie.Lifecycle;
using Treepie.Revisions;
using Treepie.Store;
using Treepie.Writes;

namespace Treepie;

/// <summary>What <see cref="DocumentLifecycle"/> and <see cref="DocumentRevisions"/> see of a database.</summary>
internal sealed class RoomHost(Database database) : ILifecycleHost, IRevisionHost
{
    public DatabaseOptions Options => database.Options;

    public TimeProvider Clock => database.Options.TimeProvider;

    public DatabaseSnapshot BeginRead() => database.BeginRead();

    public Task<T> WriteAsync<T>(Func<DocumentWriter, T> command, CancellationToken cancellationToken) =>
        database.WriteAsync((writer, _) => command(writer), cancellationToken, wantsResults: false);

    public Task WriteAsync(WriteBatch batch, CancellationToken cancellationToken) =>
        database.WriteWithoutResultsAsync(batch, cancellationToken);
}

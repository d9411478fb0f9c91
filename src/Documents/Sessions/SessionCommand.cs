using Treepie.Writes;

namespace Treepie.Sessions;

/// <summary>A command of the next save in addition to storing documents, executed after these.</summary>
/// <param name="add">Adds the command to the batch.</param>
/// <param name="changes">The changes it makes, with the id of the document or the key.</param>
internal class SessionCommand(Action<WriteBatch> add, params IReadOnlyList<(string Id, SessionChange Change)> changes)
    : IAsyncDisposable
{
    /// <summary>The changes it makes, with the id of the document or the key.</summary>
    public IReadOnlyList<(string Id, SessionChange Change)> Changes => changes;

    public virtual ValueTask AddToAsync(WriteBatch batch, ISessionHost database, CancellationToken cancellationToken)
    {
        add(batch);
        return ValueTask.CompletedTask;
    }

    /// <summary>Called when the command was written, or discarded by the session.</summary>
    public virtual ValueTask DisposeAsync() => ValueTask.CompletedTask;
}

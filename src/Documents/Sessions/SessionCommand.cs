using Treepie.Writes;

namespace Treepie.Sessions;

/// <summary>Something beside the documents that the next save does, behind the documents.</summary>
internal class SessionCommand(Action<WriteBatch> add) : IAsyncDisposable
{
    public virtual ValueTask AddToAsync(WriteBatch batch, ISessionHost database, CancellationToken cancellationToken)
    {
        add(batch);
        return ValueTask.CompletedTask;
    }

    /// <summary>Called when it was written, or the session gives it up.</summary>
    public virtual ValueTask DisposeAsync() => ValueTask.CompletedTask;
}

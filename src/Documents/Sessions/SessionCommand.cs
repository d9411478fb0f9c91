using Treepie.Writes;

namespace Treepie.Sessions;

/// <summary>Something beside the documents that the next save does, behind the documents.</summary>
/// <param name="add">Adds it to the batch.</param>
/// <param name="changes">What it changes, with the document, or key, it changes it of.</param>
internal class SessionCommand(Action<WriteBatch> add, params IReadOnlyList<(string Id, SessionChange Change)> changes)
    : IAsyncDisposable
{
    /// <summary>What it changes, with the document, or key, it changes it of.</summary>
    public IReadOnlyList<(string Id, SessionChange Change)> Changes => changes;

    public virtual ValueTask AddToAsync(WriteBatch batch, ISessionHost database, CancellationToken cancellationToken)
    {
        add(batch);
        return ValueTask.CompletedTask;
    }

    /// <summary>Called when it was written, or the session gives it up.</summary>
    public virtual ValueTask DisposeAsync() => ValueTask.CompletedTask;
}

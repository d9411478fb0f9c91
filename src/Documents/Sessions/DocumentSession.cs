namespace Treepie.Sessions;

/// <summary>A unit of work: loads objects once, notes what changed, saves all of it in one durable batch. Not thread-safe.</summary>
public sealed class DocumentSession : IDisposable
{
    internal DocumentSession()
    {
    }

    /// <inheritdoc/>
    public void Dispose() => throw new NotImplementedException();
}

namespace Treepie.Lifecycle;

/// <summary>Tasks that process documents at the times specified in their metadata.</summary>
public enum LifecycleTask
{
    /// <summary>Deletes documents at the time given by <c>@expires</c>.</summary>
    Expiration,

    /// <summary>
    /// At the time given by <c>@refresh</c>, removes that member, which gives the document a new change vector.
    /// </summary>
    Refresh,

    /// <summary>
    /// At the time given by <c>@archive-at</c>, marks documents as archived: replaces that member by <c>@archived</c>.
    /// </summary>
    Archival,
}

namespace Treepie.Lifecycle;

/// <summary>What is done with documents at times that their metadata gives.</summary>
public enum LifecycleTask
{
    /// <summary>Documents are deleted at <c>@expires</c>.</summary>
    Expiration,

    /// <summary>At <c>@refresh</c> documents get a new change vector, and lose that member.</summary>
    Refresh,

    /// <summary>At <c>@archive-at</c> documents are marked: <c>@archived</c> takes the place of that member.</summary>
    Archival,
}

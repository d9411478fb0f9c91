namespace Treepie.Store;

/// <summary>How a revision came about.</summary>
internal readonly record struct RevisionOrigin
{
    /// <summary>A time that is unknown: after all others.</summary>
    public static readonly long UnknownTicks = DateTime.MaxValue.Ticks;

    /// <summary>Whether it was created on request, when the rules would not have created one.</summary>
    public bool IsForced { get; init; }

    /// <summary>Whether the document was created with it: nothing of the document was known before.</summary>
    public bool IsCreation { get; init; }

    /// <summary>
    /// For a creation, the latest time (UTC ticks) of a deletion that the database had forgotten by then: earlier, the document
    /// may have existed. 0 if none was forgotten; <see cref="UnknownTicks"/> if that is not known.
    /// </summary>
    public long ForgottenTicks { get; init; }

    /// <summary>Whether <see cref="ForgottenTicks"/> is to be stored; what is not stored is unknown.</summary>
    public bool KnowsForgotten => IsCreation && ForgottenTicks < UnknownTicks;

    /// <summary>
    /// Whether the database wrote it when the document changed. It then follows the revision with the next lower etag, even if
    /// the clock was set back in between; otherwise, its place is where its time is.
    /// </summary>
    public bool IsOwn { get; init; }
}

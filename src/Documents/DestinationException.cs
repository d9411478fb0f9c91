namespace Treepie;

/// <summary>
/// A place for backups cannot be used. The message says which place, what happened, and what to do; never a key.
/// </summary>
public sealed class DestinationException : TreepieException
{
    /// <summary>Creates the error.</summary>
    public DestinationException(DestinationFault fault, string message, Exception? innerException = null)
        : base(message, innerException) => Fault = fault;

    /// <summary>What is wrong.</summary>
    public DestinationFault Fault { get; }
}

/// <summary>What is wrong with a place for backups.</summary>
public enum DestinationFault
{
    /// <summary>Its address is none, or of a kind that nobody here can open.</summary>
    BadAddress,

    /// <summary>The folder or bucket is not there.</summary>
    Missing,

    /// <summary>The keys are wrong, absent or no longer valid.</summary>
    KeysRefused,

    /// <summary>The place is there, and does not let us in.</summary>
    Forbidden,

    /// <summary>There is no room.</summary>
    NoRoom,

    /// <summary>The clocks of this machine and of the place differ by too much for it to believe our signature.</summary>
    ClockSkew,

    /// <summary>Nobody answers there, or the connection breaks again and again.</summary>
    Unreachable,

    /// <summary>It takes so long that the others were not made to wait for it.</summary>
    TooSlow,

    /// <summary>Something of that name is there already.</summary>
    NameTaken,

    /// <summary>Nothing of that name is there.</summary>
    NotFound,

    /// <summary>It failed otherwise.</summary>
    Failed,
}

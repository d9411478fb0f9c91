namespace Treepie;

/// <summary>
/// Thrown when a backup destination cannot be used. The message names the destination, what happened and what to do; it never
/// contains keys.
/// </summary>
public sealed class DestinationException : TreepieException
{
    /// <summary>Creates the exception.</summary>
    public DestinationException(DestinationFault fault, string message, Exception? innerException = null)
        : base(message, innerException) => Fault = fault;

    /// <summary>The kind of the error.</summary>
    public DestinationFault Fault { get; }
}

/// <summary>The kinds of errors of backup destinations.</summary>
public enum DestinationFault
{
    /// <summary>The address is not valid, or of a kind that is not supported.</summary>
    BadAddress,

    /// <summary>The folder or bucket does not exist.</summary>
    Missing,

    /// <summary>The credentials are missing, wrong or expired.</summary>
    KeysRefused,

    /// <summary>Access to the destination is denied.</summary>
    Forbidden,

    /// <summary>There is not enough space.</summary>
    NoRoom,

    /// <summary>The clocks of this machine and of the destination differ too much for the signature to be accepted.</summary>
    ClockSkew,

    /// <summary>The destination does not respond, or the connection fails repeatedly.</summary>
    Unreachable,

    /// <summary>The destination was abandoned because it was too slow for the others to wait.</summary>
    TooSlow,

    /// <summary>An object of that name already exists.</summary>
    NameTaken,

    /// <summary>No object of that name exists.</summary>
    NotFound,

    /// <summary>Any other error.</summary>
    Failed,
}

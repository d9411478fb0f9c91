namespace Treepie.Server.Operations;

/// <summary>Where an operation stands; the names are the protocol's.</summary>
internal enum OperationStatus
{
    InProgress,
    Completed,
    Canceled,
    Faulted,
}

namespace Treepie.Server.Operations;

/// <summary>The status of an operation, with the names used in the protocol.</summary>
internal enum OperationStatus
{
    InProgress,
    Completed,
    Canceled,
    Faulted,
}

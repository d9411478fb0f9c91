using Treepie.Indexes;

namespace Treepie.Server.Endpoints;

/// <summary>The protocol's words for indexes.</summary>
internal static class IndexWire
{
    public const string AutoMap = "AutoMap";
    public const string Documents = "Documents";
    public const string LockMode = "Unlock";
    public const string Priority = "Normal";

    public static string StateOf(IndexStatistics index) => index.State == IndexState.Error ? "Error" : "Normal";

    public static string StatusOf(IndexStatistics index) => index.State == IndexState.Error ? "Failure" : "Running";
}

namespace Treepie.Sessions;

/// <summary>The warning of trimming and AOT analyzers about calls that serialize by reflection.</summary>
internal static class ReflectionUse
{
    public const string Message =
        "Reads and writes objects by reflection. Give SessionOptions with a source-generated JsonSerializerContext instead.";
}

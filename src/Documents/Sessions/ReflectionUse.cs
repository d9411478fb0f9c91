namespace Treepie.Sessions;

/// <summary>What compilers of trimmed and native programs say of calls that serialize by reflection.</summary>
internal static class ReflectionUse
{
    public const string Message =
        "Reads and writes objects by reflection. Give SessionOptions with a source-generated JsonSerializerContext instead.";
}

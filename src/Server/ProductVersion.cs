using System.Reflection;

namespace Treepie.Server;

/// <summary>The versions that the server reports.</summary>
internal static class ProductVersion
{
    /// <summary>The version of the wire protocol, from which clients determine the features of the server.</summary>
    public const string Protocol = "7.1.0.0";

    /// <summary>Treepie's own version, such as <c>0.1.0</c>.</summary>
    public static string Own { get; } = OwnVersion();

    private static string OwnVersion()
    {
        string version =
            typeof(ProductVersion).Assembly.GetCustomAttribute<AssemblyInformationalVersionAttribute>()?.InformationalVersion
                ?? "0";
        int commit = version.IndexOf('+', StringComparison.Ordinal);
        return commit < 0 ? version : version[..commit];
    }
}

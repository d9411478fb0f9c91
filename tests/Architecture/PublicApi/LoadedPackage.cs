using System.Reflection;
using System.Runtime.Loader;

namespace Treepie.Architecture.Tests.PublicApi;

/// <summary>An assembly that ships, loaded with those it stands on, so that its types can be looked at.</summary>
internal static class LoadedPackage
{
    /// <summary>Loads the assembly of a file.</summary>
    public static Assembly Of(string path)
    {
        // Not collectible: nobody holds the context while the types are looked at, and one that is collected refuses to load what
        // they refer to.
        var context = new AssemblyLoadContext(path, isCollectible: false);
        // A library's output does not hold the packages it uses; that of the command line holds those of all it stands on.
        string packages = Path.GetDirectoryName(Assemblies.PathOf("Treepie.CommandLine"))!; // a file lies in a folder
        context.Resolving += (_, wanted) =>
            new[] { Path.GetDirectoryName(path)!, packages }
                .Select(folder => Path.Combine(folder, wanted.Name + ".dll"))
                .FirstOrDefault(File.Exists) is { } found
                ? context.LoadFromAssemblyPath(found)
                : null;
        return context.LoadFromAssemblyPath(path);
    }
}

namespace Treepie.Tests.Support;

/// <summary>
/// What a test needs beyond the .NET SDK. If it is missing, the test is skipped with a reason; with
/// <c>TREEPIE_REQUIRE_ALL=1</c>, as in CI, it fails.
/// </summary>
public static class Requirement
{
    /// <summary>Whether a missing requirement fails the test instead of skipping it.</summary>
    public static bool All => Environment.GetEnvironmentVariable("TREEPIE_REQUIRE_ALL") == "1";

    /// <summary>Skips (or fails) the running test unless <paramref name="present"/>.</summary>
    public static void Needs(bool present, string what, string howToGetIt)
    {
        if (present)
            return;

        string message = $"{what} is not on this machine. {howToGetIt}";
        Assert.False(All, message);
        Assert.Skip(message);
    }

    /// <summary>Requires a program on the path, and returns its full path.</summary>
    public static string Program(string name, string howToGetIt)
    {
        string? found = Find(name);
        Needs(found is not null, $"The program '{name}'", howToGetIt);
        return found!; // Needs does not return if it is null
    }

    /// <summary>Whether a program is on the path, for tests whose requirements not even CI meets.</summary>
    public static bool Finds(string name) => Find(name) is not null;

    private static string? Find(string name) => (Environment.GetEnvironmentVariable("PATH") ?? "")
        .Split(Path.PathSeparator, StringSplitOptions.RemoveEmptyEntries)
        .Select(folder => Path.Combine(folder, name))
        .FirstOrDefault(File.Exists);
}

using Microsoft.Extensions.Options;

namespace Treepie.Extensions.Hosting;

/// <summary>Checks the options of one database when the host starts.</summary>
/// <param name="options">The name of the options.</param>
/// <param name="key">The key of the database; null if it has none.</param>
internal sealed class HostingOptionsValidator(string options, object? key) : IValidateOptions<TreepieHostingOptions>
{
    public ValidateOptionsResult Validate(string? name, TreepieHostingOptions given)
    {
        if (name != options)
            return ValidateOptionsResult.Skip;
        string database = key is null ? "The database" : $"The database with the key '{key}'";
        var failures = new List<string>();
        if (string.IsNullOrWhiteSpace(given.Path) && !given.InMemory)
            failures.Add(
                $"{database} has no directory. Set TreepieHostingOptions.Path in AddTreepieDatabase or 'Path' in its section of "
                    + "the configuration, or InMemory for tests.");
        if (given.SlowQueries < TimeSpan.Zero)
            failures.Add($"{database} has {given.SlowQueries} for SlowQueries. It is a time from 0 on, or null for no log.");
        if (given.BackgroundChecks <= TimeSpan.Zero)
            failures.Add($"{database} has {given.BackgroundChecks} for BackgroundChecks. It is a time above 0.");
        return failures.Count == 0 ? ValidateOptionsResult.Success : ValidateOptionsResult.Fail(failures);
    }
}

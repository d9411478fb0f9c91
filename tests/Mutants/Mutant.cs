namespace Treepie.Mutants;

/// <summary>The mutant that is on in this process: one, or none.</summary>
internal static partial class Mutant
{
    public const string Variable = "TREEPIE_MUTANT";

    // Constant for the compiler of the running program, so that a mutant that is off costs nothing.
    private static readonly int _on = int.TryParse(Environment.GetEnvironmentVariable(Variable), out int number) ? number : 0;

    /// <summary>Its number, counted from 1; 0 for none.</summary>
    public static int On => _on;

    /// <summary>Whether a mutant is on. Its code asks.</summary>
    public static bool Is(int number) => _on == number;
}

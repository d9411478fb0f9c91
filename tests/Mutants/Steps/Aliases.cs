// The sources of the engine and of the simulation, compiled in this project, mean these types by the names of the framework's.
global using Treepie.Mutants.Steps;
global using Interlocked = Treepie.Mutants.Steps.SteppedInterlocked;
global using SpinWait = Treepie.Mutants.Steps.SteppedSpinWait;
global using Volatile = Treepie.Mutants.Steps.SteppedVolatile;

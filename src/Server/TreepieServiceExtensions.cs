using Treepie.Computing;
using Treepie.Server;
using Treepie.Server.Hosting;

namespace Microsoft.Extensions.DependencyInjection;

/// <summary>Registers Treepie's services in an ASP.NET Core application.</summary>
public static class TreepieServiceExtensions
{
    /// <summary>
    /// Registers the options and, for <c>app.MapTreepie()</c>, the catalogue of databases in
    /// <see cref="TreepieServerOptions.DataDirectory"/>, which is opened on first use and closed when the application stops. It
    /// can be injected as <see cref="Treepie.DatabaseCatalog"/>.
    /// </summary>
    public static IServiceCollection AddTreepie(this IServiceCollection services, Action<TreepieServerOptions>? configure = null)
    {
        ArgumentNullException.ThrowIfNull(services);
        var options = new TreepieServerOptions();
        configure?.Invoke(options);
        if (options.Database.Computing is null)
            options.Database = options.Database with { Computing = new TextComputingEngine() };
        options.Validate();
        services.AddRouting();
        services.AddSingleton(provider => new TreepieServices(options, provider));
        services.AddSingleton(provider => provider.GetRequiredService<TreepieServices>().Catalog);
        services.AddHostedService(provider => new BackupHost(provider.GetRequiredService<TreepieServices>()));
        return services;
    }
}
